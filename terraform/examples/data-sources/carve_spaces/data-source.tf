data "carve_spaces" "all" {}
