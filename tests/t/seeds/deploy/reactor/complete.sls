tell_monitoring:
  local.cmd.run:
    - tgt: lb1
    - arg:
      - echo 'complete {{ data['data']['version'] }}' >>@ROOT@/calls
