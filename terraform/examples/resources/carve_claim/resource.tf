resource "carve_pool" "web" {
  name = "web"
  cidr = "10.97.0.0/16"
}

# Any free /28 of the pool. The block is known after apply.
resource "carve_claim" "blocks" {
  for_each = toset(["blue", "green"])

  name          = "web-${each.key}"
  pool          = carve_pool.web.id
  prefix_length = 28
  labels        = { colour = each.key }
}

# This exact address.
resource "carve_claim" "gateway" {
  name                = "web-gateway"
  pool                = carve_pool.web.id
  address             = cidrhost(carve_pool.web.cidr, -2)
  deletion_protection = false
}

output "blocks" {
  value = { for name, claim in carve_claim.blocks : name => claim.cidr }
}
