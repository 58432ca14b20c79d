package logs

import (
	"fmt"
	"strings"
)

var lives = [...]string{never: "never", live: "live", ended: "ended", swept: "swept"}

func (h *hold) String() string {
	return fmt.Sprintf("%s%d %s", logName(int(h.log)), h.addr, lives[h.life])
}

// picture returns a state in one line: the rows of each log, the holds, and the cached folds.
func (m *machine) picture(s *state) string {
	var out strings.Builder
	for c := range m.Logs {
		l := &s.logs[c]
		fmt.Fprintf(&out, "%s: rows %d-%d held %0*b", logName(c), l.gone+1, l.head, m.Size, l.fold[l.head])
		if m.Snapshots {
			fmt.Fprintf(&out, " snapshot %d", l.root)
		}
		for sv := range s.servers {
			if k := &s.servers[sv].caches[c]; k.warm {
				fmt.Fprintf(&out, " server%d@%d", sv+1, k.seq)
			}
		}
		out.WriteString("; ")
	}
	for i := range m.Wants {
		for a := range s.clients[i].holds {
			if h := &s.clients[i].holds[a]; h.life != never {
				fmt.Fprintf(&out, "claim%d.%d %s; ", i+1, a+1, h)
			}
		}
	}
	return strings.TrimSuffix(out.String(), "; ")
}

// String returns the parts of a group.
func (f *flight) String() string {
	var parts []string
	for i, o := range f.ops {
		switch o.kind {
		case claim:
			parts = append(parts, fmt.Sprintf("claim%d.%d at %s%d row %d", i+1, o.ask, logName(int(o.log)), o.addr, f.rows[o.log]))
		case release:
			parts = append(parts, fmt.Sprintf("release of claim%d.%d row %d", i+1, o.ask, f.rows[o.log]))
		case none:
		}
	}
	return strings.Join(parts, " and ")
}
