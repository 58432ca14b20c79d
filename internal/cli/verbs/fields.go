package verbs

// These fields and filters belong to several kinds.

// Labels are the fields for labels and annotations.
var Labels = []Field{
	{
		Flag: "label", Path: "metadata.labels", Create: "label to set (repeatable)",
		Set: "label to set, or key- to remove one (repeatable)",
	},
	{
		Flag: "annotation", Path: "metadata.annotations", Create: "annotation to set (repeatable)",
		Set: "annotation to set, or key- to remove one (repeatable)",
	},
}

// Described are the fields for a kind with labels and a description.
var Described = append(Labels[:2:2], Description)

// Description is the field for the description.
var Description = Field{Flag: "description", Usage: "`TEXT` that describes it"}

// SelectorFilter returns the filter on labels. The server checks the syntax.
func SelectorFilter(kinds string) Field {
	return Field{Flag: "selector", Short: "l", Path: "labelSelector", Usage: "only " + kinds + " with these `LABELS`: 'a=b,c!=d,e in (f,g),!h'"}
}

// FamilyFilter returns the filter by address family.
func FamilyFilter(what string) Field {
	return Field{Flag: "family", Path: "ipFamily", Value: familyText, Usage: "only " + what + " of this address family: IPv4, IPv6"}
}

// ClassFilter returns the filter by class.
func ClassFilter(usage string) Field {
	return Field{Flag: "class", Value: NameOf("class"), Complete: CompleteClasses, Usage: usage}
}

// These filters select by pool and by address.
var (
	PoolFilter     = Field{Flag: "pool", Value: RefOf, Complete: CompletePools, Usage: "only blocks from this `POOL`, name or project/name"}
	WithinFilter   = Field{Flag: "within", Usage: "only blocks inside this `CIDR`"}
	ContainsFilter = Field{Flag: "contains", Usage: "only blocks that contain this `ADDRESS`"}
)
