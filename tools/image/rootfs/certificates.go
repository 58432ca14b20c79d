package rootfs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// certificates returns the authorities in Mozilla's programme, from a module of the Go project. Unlike a distribution's package, the module has a
// version in go.mod and a hash in go.sum. The authorities are in a file of the image and not in the programs. An operator can therefore mount another
// file over it without a new build, for example to add a company's own authority.
//
// It omits authorities that Mozilla distrusts from some date on. A file cannot contain such a date, so it would trust them fully.
func certificates() ([]byte, error) {
	var all bytes.Buffer
	count := 0
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		cert, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			return nil, fmt.Errorf("certificate authority: %w", err)
		}
		fmt.Fprintf(&all, "# %s\n", cert.Subject)
		if err := pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
		count++
	}
	if count == 0 {
		return nil, errors.New("the module of certificate authorities has none")
	}
	return all.Bytes(), nil
}
