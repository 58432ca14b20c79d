resource "carve_pool" "shared" {
  name       = "shared"
  cidr       = "10.98.0.0/16"
  visibility = "shared"
}

# Project team-b can claim from the pool.
resource "carve_grant" "team_b" {
  pool     = carve_pool.shared.name
  consumer = "team-b"
}
