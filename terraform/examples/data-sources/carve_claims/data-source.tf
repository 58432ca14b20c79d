data "carve_claims" "prod" {
  pool      = "prod"
  max_items = 500
}

output "held" {
  value = data.carve_claims.prod.claims[*].cidr
}
