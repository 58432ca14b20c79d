package webhook_test

import (
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/webhook"
)

func ExampleVerify() {
	secrets := []string{os.Getenv("CARVE_WEBHOOK_SECRET")}
	http.HandleFunc("POST /carve", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
		if err != nil {
			http.Error(w, "too large, or broken off", http.StatusBadRequest)
			return
		}
		delivery, err := webhook.Verify(secrets, r.Header, body, webhook.DefaultTolerance)
		if err != nil {
			http.Error(w, "not from the server", http.StatusUnauthorized)
			return
		}
		for _, change := range delivery.Message.Changes {
			switch change.Type {
			case client.ChangeTypePut:
				fmt.Println(change.Kind, change.Name, "is", string(change.Object))
			case client.ChangeTypeDelete:
				fmt.Println(change.Kind, change.Name, "is no more")
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
}
