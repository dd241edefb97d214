myapp:
  git.latest:
    - name: file://@ROOT@/repo
    - rev: v2.3.1
    - target: @ROOT@/opt/apps/{{ grains['id'] }}
