import {
  to = carve_pool.prod
  id = "team-a/eu-prod"
}
