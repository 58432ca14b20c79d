// Package v1alpha1 defines Carve's objects in Kubernetes.
//
// +kubebuilder:object:generate=true
// +groupName=ipam.carve.dev
package v1alpha1

import (
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the objects' API group and version.
var GroupVersion = schema.GroupVersion{Group: "ipam.carve.dev", Version: "v1alpha1"}

// AddToScheme adds the objects to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &IPClaim{}, &IPClaimList{}, &IPClaimTemplate{}, &IPClaimTemplateList{})
	addClusterScoped(s)
	meta.AddToGroupVersion(s, GroupVersion)
	return nil
}
