# Does the release run that is said to run?
{% set site = salt['grains.get']('site') %}

smoke test:
  cmd.run:
    - name: grep -qx up {{ site }}/app/health
