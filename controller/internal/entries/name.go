package entries

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Attempts is how many names there are for the claim of an entry.
const Attempts = 8

const (
	longestName = 63
	letters     = 5
	// alphabet has no vowels, so that it spells nothing, and nothing that looks like something else.
	alphabet = "bcdfghjklmnpqrstvwxz2456789"
)

// ClaimName is what the claim of a pod's entry is called. It is a function of what it is for: who has forgotten it finds it again, and another pod of
// the same name has another. Where somebody else has the name already, the next attempt has another one.
func ClaimName(pod string, uid types.UID, entry string, attempt int) string {
	const room = longestName - letters - len("--")
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", uid, entry, attempt))
	if all := len(pod) + len(entry); all > room { // both become shorter, so that neither disappears
		forPod := min(max(room*len(pod)/all, 1), room-1)
		pod, entry = pod[:forPod], entry[:room-forPod]
	}
	suffix := make([]byte, letters)
	for i := range suffix {
		suffix[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return strings.TrimRight(pod, "-.") + "-" + strings.TrimRight(entry, "-.") + "-" + string(suffix)
}
