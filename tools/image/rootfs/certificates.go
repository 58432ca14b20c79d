package rootfs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// certificates are the authorities of Mozilla's programme as the Go project publishes them in a module: a version in go.mod and a
// hash in go.sum, which a package of a distribution is not. They are a file, and not compiled in, so that an operator can mount
// others over it (an authority of the company's own, say) and needs no build of ours for that.
//
// Authorities that are distrusted from some date on are left out: a file can only say "trusted", and that would be too much.
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
