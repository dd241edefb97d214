{% from "apache/map.sls" import apache with context %}

{% set version = salt.pillar.get('version', 'master') %}

include:
  - apache

apptest:
  git.latest:
    - name: file://@ROOT@/repo
    - rev: {{ version }}
    - target: @ROOT@/opt/apptest
    - watch_in:
      - service: enable_apache

notify_of_fail:
  event.send:
    - name: apptest/failed
    - onfail:
      - git: apptest
