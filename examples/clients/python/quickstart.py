"""Quick start with the client that openapi-generator makes: a project, a pool, a block of it, and what a full pool says."""

import json
import os
import uuid

import carve_ipam
from carve_ipam import models as m
from carve_ipam.rest import ApiException

conf = carve_ipam.Configuration(host=os.environ.get("CARVE_SERVER", "http://127.0.0.1:8080"))
conf.access_token = os.environ.get("CARVE_API_KEY")  # must be set, if only to None

with carve_ipam.ApiClient(conf) as api:
    # A generated client neither makes keys nor repeats: a new key for each new request, the same one for its repeats.
    project = carve_ipam.ProjectsApi(api).create_project(
        m.ProjectCreate(metadata=m.CreateMetadata(generate_name="quickstart-")), idempotency_key=str(uuid.uuid4())
    )
    team = project.metadata.name
    carve_ipam.PoolsApi(api).create_pool(
        team,
        m.IPPoolCreate(metadata=m.CreateMetadata(name="prod"), spec=m.IPPoolSpec(cidr="10.20.0.0/23")),
        idempotency_key=str(uuid.uuid4()),
    )

    claims = carve_ipam.ClaimsApi(api)
    spec = m.IPClaimSpec(pool_ref=m.Ref(name="prod"), prefix_length=24)
    for name in ("web", "db", "cache"):
        try:
            # By name: asked again, it answers the same block, and needs no key.
            print(f"{name}: {claims.put_claim(team, name, m.IPClaimPut(spec=spec)).status.allocated_cidr}")
        except ApiException as refusal:
            print(f"{name}: {json.loads(refusal.body)['code']}")

    for claim in claims.list_claims(team).items:
        claims.delete_claim(team, claim.metadata.name)
        print(f"{claim.metadata.name}: released {claim.status.allocated_cidr}")
