# The same release for many, in waves: one server first, then half of them at a time; a second failure stops the rest.
#
#   salt-run state.orchestrate orch.rolling pillar='{version: "2.0"}'
everywhere:
  salt.state:
    - tgt: role:web
    - tgt_type: grain
    - sls:
      - app
      - app.smoke
    - pillar:
        version: "{{ pillar.get('version', '1.0') }}"
    - canary: 1
    - batch: 50%
    - max_fail: 1
