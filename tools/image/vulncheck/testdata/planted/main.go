// Planted is a program that calls a function which testdata/vulndb reports as vulnerable.
package main

import "github.com/google/uuid"

func main() { println(uuid.NewString()) }
