import {
  to = carve_project.billing
  id = "billing"
}
