resource "carve_quota" "all" {
  name   = "all"
  limits = { addresses = 65536, claims = 1000 }
}
