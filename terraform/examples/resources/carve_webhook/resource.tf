resource "carve_webhook" "inventory" {
  name           = "inventory"
  url            = "https://inventory.example.com/carve"
  resource_kinds = ["IPClaim"]
}

output "inventory_secret" {
  value     = carve_webhook.inventory.secret
  sensitive = true
}
