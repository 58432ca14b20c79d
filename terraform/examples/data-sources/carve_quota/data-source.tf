data "carve_quota" "limit" {
  name = "limit"
}

output "claims_left" {
  value = data.carve_quota.limit.available.claims
}
