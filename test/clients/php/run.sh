#!/usr/bin/env bash
exec php -d error_reporting=E_ALL scenario.php
