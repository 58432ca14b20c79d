data "carve_webhooks" "all" {}
