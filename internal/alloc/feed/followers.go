package feed

// followers contains a hub's followers, by the name in their filter. The empty name means all names. A change to one name does not wake the followers
// that wait for other names.
type followers struct {
	count int
	named map[string]map[*Follower]bool
}

func (all *followers) add(f *Follower) {
	all.count++
	if all.named[f.filter.Name] == nil {
		all.named[f.filter.Name] = map[*Follower]bool{}
	}
	all.named[f.filter.Name][f] = true
}

func (all *followers) remove(f *Follower) {
	all.count--
	if delete(all.named[f.filter.Name], f); len(all.named[f.filter.Name]) == 0 {
		delete(all.named, f.filter.Name)
	}
}

// publish announces a part to each follower that may match any of its changes.
func (all *followers) publish(p part, number int) {
	for f := range all.named[""] {
		f.offer(number)
	}
	for name := range p.named {
		for f := range all.named[name] {
			f.offer(number)
		}
	}
}

func (all *followers) wakeAll() {
	for _, of := range all.named {
		for f := range of {
			f.wakeUp()
		}
	}
}
