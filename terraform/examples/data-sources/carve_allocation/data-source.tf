data "carve_allocations" "prod" {
  pool    = "prod"
  purpose = "Claim"
}

data "carve_allocation" "first" {
  uid = data.carve_allocations.prod.allocations[0].uid
}
