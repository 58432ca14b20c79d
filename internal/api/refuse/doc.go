// Package refuse says what is wrong with a request, place by place.
package refuse
