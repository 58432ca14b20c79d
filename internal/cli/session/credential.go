package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
)

// largestToken is a credential's maximum size in bytes. It is smaller than the limit for a header.
const largestToken = 16 << 10

// An API key has the form carve_<id>_<secret>. Only the id may be shown.
const (
	keyPrefix = "carve_"
	keyLength = len(keyPrefix) + 32 + 1 + 52
)

var keyRE = regexp.MustCompile(`^carve_([0-9a-f]{32})_[a-z2-7]{52}$`)

// Token is a credential. It is an API key or a token of an OpenID Connect issuer. Formatted output never contains its secret.
type Token string

// String and GoString return the credential without its secret, so that no formatting verb can print it.
func (t Token) String() string { return t.About() }

// GoString implements %#v.
func (t Token) GoString() string { return t.About() }

// About describes the credential without its secret.
func (t Token) About() string {
	switch id := t.KeyID(); {
	case t == "":
		return "none"
	case id != "":
		return "key " + id
	default:
		return "a token that is not an API key"
	}
}

// KeyID returns an API key's public part, as in `status.keyId`. For any other token, it returns "".
func (t Token) KeyID() string {
	if m := keyRE.FindStringSubmatch(string(t)); m != nil {
		return m[1]
	}
	return ""
}

// parseToken parses a credential from a file, an environment variable or a terminal. Its errors do not contain the credential.
func parseToken(text []byte) (Token, error) {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return "", errors.New("it is empty")
	case len(text) > largestToken:
		return "", errors.New("it is too long to be a credential")
	}
	for _, c := range text {
		if c <= ' ' || c >= 0x7f {
			return "", errors.New("it is not one word: a credential has no blanks and no special characters")
		}
	}
	if bytes.HasPrefix(text, []byte(keyPrefix)) && !keyRE.Match(text) {
		return "", fmt.Errorf("it starts like an API key but has %d characters; a key has %d", len(text), keyLength)
	}
	return Token(text), nil
}

// ReadToken reads the credential of --api-key-file. It reads a file, or standard input if the path is -. On a terminal it reads without echo. The
// flag takes a path and not the credential, because other users can see command lines.
func (p *Program) ReadToken(path string) (Token, error) {
	text, err := p.tokenText(path)
	if err != nil {
		return "", exit.Usagef("cannot read the API key: %v", err)
	}
	t, err := parseToken(text)
	if err != nil {
		return "", exit.Usagef("the API key: %v", err)
	}
	return t, nil
}

func (p *Program) tokenText(path string) ([]byte, error) {
	if path == "-" && p.Secret != nil {
		return p.Secret("API key: ")
	}
	if path == "-" {
		return io.ReadAll(io.LimitReader(p.In, largestToken+2))
	}
	if keyRE.MatchString(path) {
		return nil, errors.New("--api-key-file needs the name of a file, but the value looks like a key. Revoke that key: the list of processes and the history of the shell now contain it")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, largestToken+2))
}

// anyKey matches the API keys in a text.
var anyKey = regexp.MustCompile(`(carve_[0-9a-f]{32}_)[a-z2-7]{52}`)

// Hidden removes credentials from a text before it goes to a terminal or a log. A server may have returned this command's credential, or the user may
// have typed a credential in a wrong place.
func (p *Program) Hidden(text string) string {
	if p.sending != "" {
		text = strings.ReplaceAll(text, string(p.sending), "["+p.sending.About()+"]")
	}
	return anyKey.ReplaceAllString(text, "${1}[hidden]")
}
