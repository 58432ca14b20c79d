import {
  to = carve_webhook.inventory
  id = "team-a/inventory"
}
