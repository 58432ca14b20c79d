// Package pins checks that every download for the build, test or shipment of Carve has an exact version and a hash. It contains only tests.
package pins
