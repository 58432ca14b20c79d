package regions

import "github.com/carve-ipam/carve/internal/ipam"

// NameHere generates a name again if the installation has several regions. The new name contains the letter for this server's region. Other regions
// cannot generate the same name, so a check in those regions is not necessary.
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
