# Back to the release before, everywhere: the reaction to site/deployment/failed.
back:
  salt.state:
    - tgt: role:web
    - tgt_type: grain
    - sls: app
    - pillar:
        version: "{{ pillar['previous'] }}"
