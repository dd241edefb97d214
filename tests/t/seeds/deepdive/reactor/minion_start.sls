greet:
  local.cmd.run:
    - tgt: {{ data['id'] }}
    - arg:
      - echo "started {{ data['id'] }}" >>@ROOT@/calls
