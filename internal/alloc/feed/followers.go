package feed

// followers are those of a hub, by the name that they follow; "" is all names. Who follows one of a thousand names is not woken for the others.
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

// tell tells those whom a part may concern of its number.
func (all *followers) tell(p part, number int) {
	for f := range all.named[""] {
		f.tell(number)
	}
	for name := range p.named {
		for f := range all.named[name] {
			f.tell(number)
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
