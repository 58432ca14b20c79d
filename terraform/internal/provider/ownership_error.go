package provider

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// titled is an error with a title for Terraform's diagnostics.
type titled interface {
	error
	title() string
}

// existsError reports that an object with this name already exists.
type existsError struct {
	kind           kind
	id, by, madeBy string
	differs        string // an attribute that cannot be changed and that has another value in the object
	lost           bool   // the object's secret was in a state that is lost
}

// isForeign reports whether another configuration or a person created the object.
func (e *existsError) isForeign() bool { return !e.lost && e.differs == "" }

func (e *existsError) title() string { return "It exists already" }

func (e *existsError) Error() string {
	what := e.kind.words() + " " + e.id
	switch {
	case e.lost:
		return fmt.Sprintf("An earlier apply of this configuration created the %s, but the state does not have it. The server does not show its secret again. "+
			"Delete it (ipamctl %s delete %s) and apply again, or import it without its secret.", what, e.kind.noun(), e.id[strings.LastIndex(e.id, "/")+1:])
	case e.differs != "":
		return fmt.Sprintf("An earlier apply of this configuration created the %s with another %s, which cannot be changed. %s "+
			"Otherwise import it, and Terraform will replace it:\n\n%s", what, e.differs, beforeDestroy, e.hint())
	}
	about := ""
	if e.by != "" {
		about = ", created by " + e.by
	}
	if e.madeBy != "" {
		about += " for the Terraform configuration " + strconv.Quote(e.madeBy)
	}
	return fmt.Sprintf("The %s exists already%s. The provider does not take it over, because another user may need it. %s If it belongs to this configuration, import it:\n\n%s\n\n"+
		"With `owner` set in the provider, an apply finds the objects of an earlier apply that was cut off.", what, about, beforeDestroy, e.hint())
}

// beforeDestroy explains the most frequent cause of the conflict. With create_before_destroy, the object of the same resource still has the name.
const beforeDestroy = "If this is a replacement, remove create_before_destroy: two objects cannot have one name."

func (e *existsError) hint() string {
	return fmt.Sprintf("  import {\n    to = carve_%s.NAME\n    id = %q\n  }", e.kind.name, e.id)
}

// otherError reports that the object with this name is not the object in the state.
type otherError struct {
	kind kind
	id   string
}

func (e *otherError) title() string { return "Another " + e.kind.words() + " has the name" }

func (e *otherError) Error() string {
	return e.id + " was deleted, and another user has created an object with the same name. This resource does not manage the new object and did not change it."
}

// takenError reports that another resource has taken the object over.
type takenError struct {
	kind kind
	id   string
}

func (e *takenError) title() string { return "Another resource has the " + e.kind.words() }

func (e *takenError) Error() string {
	return fmt.Sprintf("Another resource of this configuration has taken over the %s %s. The object stays as it is and is not deleted with this resource. "+
		"Use a moved block to rename a resource; a replacement with create_before_destroy cannot keep the name.", e.kind.words(), e.id)
}

// sharedError reports that two resources in a configuration manage the same object.
type sharedError struct {
	what     string
	with, as intent
}

func (e *sharedError) title() string {
	return "Another resource of this configuration has the " + e.what
}

func (e *sharedError) Error() string {
	use := map[intent]string{intentKeep: "has", intentRelease: "destroys", intentCreate: "creates"}
	return fmt.Sprintf("One resource %s the %s, and another one %s it. An object belongs to one resource. If the resource has a new address, add:\n\n"+
		"  moved {\n    from = OLD ADDRESS\n    to   = NEW ADDRESS\n  }\n\n"+
		"If they are two objects, give them different names. To create the object again, first apply the configuration without it. "+
		"If the state has one object twice, remove one of the two from the state: terraform state rm ADDRESS.", use[e.with], e.what, use[e.as])
}

// defaultError reports that two classes are both the default of one IP family.
type defaultError struct{ what string }

func (e *defaultError) title() string { return "Two default classes" }

func (e *defaultError) Error() string {
	return "The " + e.what + " and another class of this configuration are both the default of one address family. Set is_default = true on only one of them."
}

// insideError reports that a plan destroys a container but keeps an object inside it.
type insideError struct{ container, what string }

func (e *insideError) title() string { return "Its container is destroyed" }

func (e *insideError) Error() string {
	return fmt.Sprintf("The plan keeps the %s, but destroys or replaces the %s that contains it. Destroy the contents first:\n\n"+
		"  terraform destroy -refresh=false -target=ADDRESS OF THE CONTAINER\n\nThen apply, which creates everything again.", e.what, e.container)
}

// fullError reports that a plan replaces an object that is in use.
type fullError struct {
	kind   kind
	id     string
	detail string
}

func (e *fullError) title() string { return "It cannot be replaced while it is in use" }

func (e *fullError) Error() string {
	return fmt.Sprintf("A replacement destroys the %s %s first, and the server would refuse that: %s\n\nDestroy it with its contents, then apply, which creates everything again:\n\n"+
		"  terraform destroy -refresh=false -target=ADDRESS\n\nOr create another one with another name, and move the contents.", e.kind.words(), e.id, e.detail)
}

// coolingError reports that a destroy would have to wait for blocks in cool-down. until is the end of the cool-down.
type coolingError struct {
	kind   kind
	detail string
	until  time.Time
}

func (e *coolingError) title() string { return "Blocks cool down" }

func (e *coolingError) Error() string {
	return fmt.Sprintf("%s\n\nThe %s can be destroyed when its blocks have cooled down, at %s. Destroy it then, or let Terraform wait: "+
		"timeouts = { delete = %q }. To free a block immediately, delete its allocation (ipamctl allocation delete).",
		e.detail, e.kind.words(), e.until.UTC().Format(time.RFC3339), (time.Until(e.until) + time.Minute).Round(time.Minute).String())
}
