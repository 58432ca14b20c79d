package entries

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Attempts is the number of possible names for an entry's claim.
const Attempts = 8

const (
	longestName = 63
	letters     = 5
	// alphabet has no vowels, so that a suffix does not spell a word. It also has no characters that look alike.
	alphabet = "bcdfghjklmnpqrstvwxz2456789"
)

// ClaimName returns the name for the claim of a pod's entry. The name depends only on the arguments, so a restarted controller finds the same name. A
// later pod with the same pod name has another UID, so its claim gets another name. If another owner already has the name, call ClaimName with the
// next attempt.
func ClaimName(pod string, uid types.UID, entry string, attempt int) string {
	const room = longestName - letters - len("--")
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", uid, entry, attempt))
	if all := len(pod) + len(entry); all > room { // shorten both, so that neither disappears
		forPod := min(max(room*len(pod)/all, 1), room-1)
		pod, entry = pod[:forPod], entry[:room-forPod]
	}
	suffix := make([]byte, letters)
	for i := range suffix {
		suffix[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return strings.TrimRight(pod, "-.") + "-" + strings.TrimRight(entry, "-.") + "-" + string(suffix)
}
