roll back:
  runner.state.orchestrate:
    - args:
      - mods: orch.rollback
      - pillar:
          previous: {{ data['data']['previous'] | json }}
