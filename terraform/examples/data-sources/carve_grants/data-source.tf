data "carve_grants" "prod" {
  pool = "prod"
}
