# A root pool has a block in a space, here in the project's space "default".
resource "carve_pool" "region" {
  name         = "eu"
  cidr         = "10.64.0.0/12"
  reservations = [{ first = 256, reason = "network equipment" }]
}

# A child pool is carved from its parent, which chooses the block.
resource "carve_pool" "prod" {
  name                  = "eu-prod"
  parent                = carve_pool.region.id
  prefix_length         = 16
  default_prefix_length = 28
  reuse_after           = "72h"
  labels                = { env = "prod" }
}

output "prod_cidr" {
  value = carve_pool.prod.cidr
}
