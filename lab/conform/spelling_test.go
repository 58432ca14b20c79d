package conform

import (
	"encoding/json"
	"fmt"
	"strings"
)

// respelled sends one dry run in several equivalent spellings. All of them must get the same status.
func (w *world) respelled(base *request) {
	if base.op.body == nil || !base.op.has("dryRun") {
		return
	}
	plain := base.clone("valid: dry run").without("dryRun").with("dryRun", "true").set("Idempotency-Key", "")
	var body any
	if json.Unmarshal(plain.body, &body) != nil {
		return
	}
	if o, ok := body.(obj); ok && o["metadata"] != nil && base.op.has("Idempotency-Key") {
		o["metadata"] = obj{"name": w.fresh("spelled")}
	}
	plain.body = mustJSON(body)
	first := w.do(plain)
	again := func() *request { return plain.clone("valid: spelled otherwise", first.status) }
	spaced := again()
	spaced.body = []byte("\r\n\t " + strings.ReplaceAll(string(mustIndent(body)), "\n", "\r\n\t") + "\n\n")
	w.do(spaced)
	named := again()
	named.body = escapedNames(body)
	w.do(named)
	w.do(again().set("Content-Type", strings.ToUpper(base.op.media)+"; Charset=\"UTF-8\""))
	chunked := again()
	chunked.chunked = true
	w.do(chunked)
}

func mustIndent(v any) []byte {
	raw, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		panic(err)
	}
	return raw
}

// escapedNames returns a value as JSON. In it, all names are written with escapes.
func escapedNames(v any) []byte {
	switch v := v.(type) {
	case obj:
		var parts []string
		for _, name := range sorted(v) {
			var b strings.Builder
			for _, r := range name {
				if r > 0xffff {
					b.WriteRune(r)
				} else {
					fmt.Fprintf(&b, "\\u%04X", r)
				}
			}
			parts = append(parts, `"`+b.String()+`":`+string(escapedNames(v[name])))
		}
		return []byte("{" + strings.Join(parts, ",") + "}")
	case []any:
		var parts []string
		for _, each := range v {
			parts = append(parts, string(escapedNames(each)))
		}
		return []byte("[" + strings.Join(parts, ",") + "]")
	default:
		return mustJSON(v)
	}
}
