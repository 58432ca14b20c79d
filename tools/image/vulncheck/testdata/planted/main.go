// Planted is a program that calls what testdata/vulndb says is vulnerable.
package main

import "github.com/google/uuid"

func main() { println(uuid.NewString()) }
