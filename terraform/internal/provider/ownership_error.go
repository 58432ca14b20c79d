package provider

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ownError is an error that the provider itself finds. Nothing wraps it.
type ownError struct {
	title, text string
	attribute   string // the attribute that causes the error, if it is one
	foreign     bool   // another configuration or a person created the object
	with        intent // the other resource's intent, if two resources manage one object
}

// Error returns the text.
func (e *ownError) Error() string { return e.text }

// lostError reports that an object exists, but its secret was in a state that is lost.
func (k kind) lostError(v values) error {
	id := k.id(v)
	return exists("An earlier apply of this configuration created the %s, but the state does not have it. The server does not show its secret again. "+
		"Delete it (ipamctl %s delete %s) and apply again, or import it without its secret.", k.called(v), k.noun(), id[strings.LastIndex(id, "/")+1:])
}

// differsError reports that an object exists with another value in an attribute that prevents the takeover.
func (k kind) differsError(v values, attribute string) error {
	if !k.marked {
		return exists("The %s exists already with another %s. The provider does not change it, because another configuration may have it. %s "+
			"If it belongs to this configuration, import it:\n\n%s", k.called(v), attribute, beforeDestroy, k.hint(v))
	}
	return exists("An earlier apply of this configuration created the %s with another %s, which cannot be changed. %s "+
		"Otherwise import it, and Terraform will replace it:\n\n%s", k.called(v), attribute, beforeDestroy, k.hint(v))
}

// adoptedWarning reports that a resource took over an existing object without annotations. Terraform shows only the first of several warnings with
// one title, so the title contains the object.
func (k kind) adoptedWarning(v values) *ownError {
	return &ownError{
		title: "Took over the existing " + k.called(v),
		text: "It has the planned values, and the same credential created it. If another configuration also has it, remove it from one of the two states " +
			"(terraform state rm), because each would delete it.",
	}
}

// foreignError reports that an object exists that another configuration or a person created.
func (k kind) foreignError(v values, d document) error {
	about := ""
	if by := d.text("/metadata/createdBy"); by != "" {
		about = ", created by " + by
	}
	if owner := d.annotation(madeBy); owner != "" {
		about += " for the Terraform configuration " + strconv.Quote(owner)
	}
	err := exists("The %s exists already%s. The provider does not take it over, because another user may need it. %s If it belongs to this configuration, import it:\n\n%s\n\n"+
		"With `owner` set in the provider, an apply finds the objects of an earlier apply that was cut off.", k.called(v), about, beforeDestroy, k.hint(v))
	err.foreign = true
	return err
}

func exists(format string, a ...any) *ownError {
	return &ownError{title: "The resource already exists", text: fmt.Sprintf(format, a...)}
}

// beforeDestroy explains the most frequent cause of the conflict. With create_before_destroy, the same resource's earlier object still has the name.
const beforeDestroy = "If this is a replacement, remove create_before_destroy: two objects cannot have one name."

func (k kind) hint(v values) string {
	return fmt.Sprintf("  import {\n    to = carve_%s.NAME\n    id = %q\n  }", k.name, k.id(v))
}

// otherError reports that the object with this name is not the object in the state.
func (k kind) otherError(v values) *ownError {
	return &ownError{
		title: "Another " + k.words() + " has the name",
		text:  k.id(v) + " was deleted, and another user has created an object with the same name. This resource does not manage the new object and did not change it.",
	}
}

// takenError reports that another resource has taken the object over.
func (k kind) takenError(v values) *ownError {
	return &ownError{
		title: "Another resource has the " + k.words(),
		text: fmt.Sprintf("Another resource of this configuration has taken over the %s. The object stays as it is and is not deleted with this resource. "+
			"Use a moved block to rename a resource; a replacement with create_before_destroy cannot keep the name.", k.called(v)),
	}
}

// sharedError reports that two resources in a configuration manage the same object.
func sharedError(what string, with, as intent) error {
	use := map[intent]string{intentKeep: "has", intentRelease: "destroys", intentCreate: "creates"}
	return &ownError{
		title: "Another resource of this configuration has the " + what, with: with,
		text: fmt.Sprintf("One resource %s the %s, and another one %s it. An object belongs to one resource. If the resource has a new address, add this instead of an import block:\n\n"+
			"  moved {\n    from = OLD ADDRESS\n    to   = NEW ADDRESS\n  }\n\n"+
			"If they are two objects, give them different names. To create the object again, first apply the configuration without it. "+
			"If the state has one object twice, remove one of the two from the state: terraform state rm ADDRESS.", use[with], what, use[as]),
	}
}

// defaultError reports that two classes are both the default for one IP family.
func defaultError(what string) error {
	return &ownError{
		title: "Two default classes",
		text:  "The " + what + " and another class of this configuration are both the default of one address family. Set is_default = true on only one of them.",
	}
}

// insideError reports that a plan destroys a container but keeps an object inside it.
func insideError(container, what string) error {
	return &ownError{
		title: "Its container is destroyed",
		text: fmt.Sprintf("The plan keeps the %s, but destroys or replaces the %s that contains it. Destroy the contents first:\n\n"+
			"  terraform destroy -refresh=false -target=ADDRESS OF THE CONTAINER\n\nThen apply, which creates everything again.", what, container),
	}
}

// fullError reports that a plan replaces an object that is in use.
func (k kind) fullError(v values, detail string) error {
	return &ownError{
		title: "It cannot be replaced while it is in use",
		text: fmt.Sprintf("A replacement destroys the %s first, and the server would refuse that: %s\n\nDestroy it with its contents, then apply, which creates everything again:\n\n"+
			"  terraform destroy -refresh=false -target=ADDRESS\n\nOr create another one with another name, and move the contents.", k.called(v), detail),
	}
}

// coolingError reports that a destroy would have to wait for blocks in cool-down. until is the end.
func (k kind) coolingError(detail string, until time.Time) error {
	return &ownError{
		title: "Blocks cool down",
		text: fmt.Sprintf("%s\n\nThe %s can be destroyed when its blocks have cooled down, at %s. Destroy it then, or let Terraform wait: "+
			"timeouts = { delete = %q }. To free a block immediately, delete its allocation (ipamctl allocation delete).",
			detail, k.words(), until.UTC().Format(time.RFC3339), (time.Until(until) + time.Minute).Round(time.Minute).String()),
	}
}

// protectedError reports that a plan or an apply would delete a protected object.
func (k kind) protectedError(v values) error {
	return &ownError{
		title: "It is protected from deletion", attribute: protectionField.name,
		text: fmt.Sprintf("The %s has deletion_protection, so it is neither destroyed nor replaced. Set deletion_protection = false and apply, then destroy or replace it.",
			k.called(v)),
	}
}

var errNoProject = &ownError{
	title: "No project", attribute: "project", text: "no project: set `project` here or in the provider, or CARVE_PROJECT",
}
