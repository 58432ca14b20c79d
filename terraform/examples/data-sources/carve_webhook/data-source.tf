data "carve_webhook" "audit" {
  name = "audit"
}
