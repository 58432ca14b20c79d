terraform import carve_api_key.pipeline 'team-a/pipeline'
