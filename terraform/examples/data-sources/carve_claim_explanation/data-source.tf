# Explains which /24 of the pool a claim would get now.
data "carve_claim_explanation" "block" {
  pool          = "prod"
  prefix_length = 24
}

output "would_get" {
  value = data.carve_claim_explanation.block.cidr
}

check "room" {
  assert {
    condition     = data.carve_claim_explanation.block.cidr != null
    error_message = "No room: ${data.carve_claim_explanation.block.detail}"
  }
}
