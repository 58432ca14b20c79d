resource "carve_space" "vrf" {
  name        = "vrf-blue"
  description = "Repeats addresses of production on purpose"
}
