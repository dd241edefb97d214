roll_back:
  salt.function:
    - name: cmd.run
    - tgt: 'web*'
    - arg:
      - echo "{{ pillar['app_name'] }} back from {{ pillar['failed_version'] }}" >>@ROOT@/calls
