import {
  to = carve_claim.gateway
  id = "team-a/web-gateway"
}
