balancer:
  cmd.run:
    - name: echo "balancer on {{ grains['id'] }}" >>@ROOT@/calls; test ! -e @ROOT@/broken
