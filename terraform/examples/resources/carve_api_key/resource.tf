resource "carve_api_key" "pipeline" {
  name        = "pipeline"
  role        = "consumer"
  description = "Claims blocks for clusters"
  expires_at  = "2100-01-01T00:00:00Z"
}

output "token" {
  value     = carve_api_key.pipeline.token
  sensitive = true
}
