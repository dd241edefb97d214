nginx:
  cmd.run:
    - name: echo "nginx on {{ grains['id'] }}" >>@ROOT@/calls
