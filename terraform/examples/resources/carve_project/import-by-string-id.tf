import {
  to = carve_project.shops
  id = "shops"
}
