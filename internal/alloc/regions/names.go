package regions

import "github.com/carve-ipam/carve/internal/ipam"

// NameHere makes a generated name anew with the letter of this server's region, if there are several regions: the same name is not generated
// in another region then, and need not be looked for there.
func (s *directory) NameHere(m *ipam.Metadata) {
	if m.GeneratedFrom == "" {
		return
	}
	regions := s.Store.KnownRegions()
	if len(regions) < 2 {
		return
	}
	for _, r := range regions {
		if r.Name == s.Region {
			m.GeneratedIn = ipam.RegionLetter(r.Ordinal)
			m.Rename()
		}
	}
}
