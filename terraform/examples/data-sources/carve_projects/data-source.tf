data "carve_projects" "production" {
  label_selector = "env=prod"
}

output "projects" {
  value = data.carve_projects.production.projects[*].name
}
