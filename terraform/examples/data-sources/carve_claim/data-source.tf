data "carve_claim" "web" {
  name = "web"
}

output "block" {
  value = data.carve_claim.web.cidr
}
