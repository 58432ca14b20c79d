package regions

import "github.com/carve-ipam/carve/internal/ipam"

// NameHere generates a name again with the letter of this server's region, if the installation has several regions. No other region can then generate
// the same name, so no check there is necessary.
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
